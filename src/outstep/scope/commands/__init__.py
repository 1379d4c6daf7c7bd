"""Commands: shell text as a tree of simple commands, and patterns compared word by word.

docs: docs/scope.md, section *Commands*
"""
