"""Options with which well-known programs run other programs, or write or delete files.

Data, as their manuals describe them; a wildcard of a rule never covers one of these.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Options(Struct, frozen=True):
    """The dangerous options of a program."""

    runs: str = ""
    """Letters that run something."""
    writes: str = ""
    """Letters that write or delete files."""
    runs_names: tuple[str, ...] = ()
    """Long options and words, as they are written."""
    writes_names: tuple[str, ...] = ()
    single: bool = False
    """Long options have one dash, so letters do not cluster."""


_INTERPRETER: Final = Options("ceE", runs_names=("--eval", "--print", "--command", "-Command", "-EncodedCommand"))

DANGEROUS: Final[dict[str, Options]] = {
    "find": Options(runs_names=("-exec", "-execdir", "-ok", "-okdir"), single=True,
                    writes_names=("-delete", "-fprint", "-fprint0", "-fprintf", "-fls")),
    "fd": Options("xX", runs_names=("--exec", "--exec-batch")),
    "fdfind": Options("xX", runs_names=("--exec", "--exec-batch")),
    "sed": Options("f", "i", ("--file",), ("--in-place",)),
    "sort": Options("", "o", ("--compress-program",), ("--output",)),
    "shuf": Options("", "o", writes_names=("--output",)),
    "split": Options(runs_names=("--filter",)),
    "git": Options("", "", ("--upload-pack", "--receive-pack", "--exec", "--exec-path", "--config-env", "--extcmd",
                            "--open-files-in-pager", "--ext-diff", "--textconv", "--template", "--config"),
                   ("--output", "--output-directory")),
    "rg": Options("", "", ("--pre", "--hostname-bin", "--pager")),
    "ag": Options("", "", ("--pager",)),
    "ack": Options("", "", ("--pager", "--ackrc")),
    "tar": Options("IF", "", ("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command",
                              "--info-script", "--new-volume-script", "--rmt-command"), ("--remove-files",)),
    "bsdtar": Options("", "", ("--use-compress-program",)),
    "zip": Options("", "m", ("-TT", "--unzip-command"), ("--move",)),
    "rsync": Options("e", "", ("--rsh", "--rsync-path"),
                     ("--remove-source-files", "--delete", "--log-file", "--write-batch", "--backup-dir")),
    "curl": Options("K", "oODc", ("--config",), ("--output", "--remote-name", "--remote-name-all", "--dump-header",
                    "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--output-dir", "--hsts",
                    "--alt-svc", "--etag-save")),
    "wget": Options("e", "OoaP", ("--execute", "--use-askpass", "--config"), ("--output-document", "--output-file",
                    "--append-output", "--directory-prefix", "--save-cookies", "--warc-file")),
    "ssh": Options("oFE", "", (), ()),
    "scp": Options("oFS", "", (), ()),
    "sftp": Options("oFSb", "", (), ()),
    "tcpdump": Options("z", "w", ("--postrotate-command",)),
    "vim": Options("cS+", "wWi", ("--cmd",)),
    "vi": Options("cS+", "wWi", ("--cmd",)),
    "nvim": Options("cSl+", "wWi", ("--cmd",)),
    "ex": Options("cS+", "w"),
    "emacs": Options("fl", "", ("--eval", "--execute", "--load", "--funcall", "--script")),
    "less": Options("+", "oO", (), ("--log-file", "--LOG-FILE")),
    "man": Options("PH", "", ("--pager", "--html")),
    "awk": Options("fEil", "", ("--file", "--exec", "--include", "--load")),
    "gawk": Options("fEil", "opd", ("--file", "--exec", "--include", "--load"),
                    ("--pretty-print", "--profile", "--dump-variables")),
    "mawk": Options("f", "", ("--file",)),
    "python": Options("c"),
    "python3": Options("c"),
    "pypy3": Options("c"),
    "node": Options("eprC", "", ("--eval", "--print", "--require", "--import", "--loader", "--experimental-loader")),
    "bun": Options("epr", "", ("--eval", "--print", "--preload")),
    "deno": Options("", "", ("eval",)),
    "perl": Options("eEMmxd", "i"),
    "ruby": Options("er", "i"),
    "php": Options("rBRFd"),
    "lua": Options("el"),
    "R": Options("e"),
    "Rscript": Options("e"),
    "julia": Options("eELJ", "", ("--eval", "--print", "--load")),
    "sh": _INTERPRETER, "bash": Options("c", "", ("--rcfile", "--init-file")), "dash": Options("c"),
    "zsh": Options("c"), "ksh": Options("c"), "fish": Options("cC", "", ("--command", "--init-command")),
    "pwsh": _INTERPRETER, "powershell": _INTERPRETER, "osascript": Options("e"),
    "flock": Options("c", "", ("--command",)),
    "script": Options("c", "", ("--command",)),
    "su": Options("c", "", ("--command", "--session-command")),
    "runuser": Options("c", "", ("--command", "--session-command")),
    "gdb": Options("x", "", ("-ex", "-iex", "-x", "--command", "--eval-command", "--args")),
    "sqlite3": Options("", "", ("-cmd", "-init"), single=True),
    "psql": Options("cf", "oL", ("--command", "--file"), ("--output", "--log-file")),
    "mysql": Options("e", "", ("--execute", "--pager"), ("--tee",)),
    "go": Options("", "", ("-exec", "-toolexec", "-vettool", "-overlay"), ("-o", "-coverprofile"), single=True),
    "cargo": Options("", "", ("--config",)),
    "make": Options("fIC", "", ("--file", "--makefile", "--eval", "--directory")),
    "npm": Options("", "", ("--script-shell", "--node-options", "--ignore-scripts=false")),
    "gcc": Options("B", "o", ("-wrapper", "-fplugin", "-specs")),
    "cc": Options("B", "o", ("-wrapper", "-fplugin", "-specs")),
    "clang": Options("B", "o", ("-fplugin", "-Xclang")),
    "pytest": Options("pc", "", ("--override-ini", "--rootdir", "--confcutdir"), ("--basetemp", "--junitxml")),
    "eslint": Options("c", "o", ("--config", "--rulesdir", "--plugin", "--resolve-plugins-relative-to"),
                      ("--output-file", "--fix")),
    "openssl": Options("", "", ("-engine", "-provider", "-provider-path"), ("-out", "-keyout", "-CAout"), single=True),
    "gpg": Options("", "o", ("--exec-path", "--agent-program"), ("--output",)),
    "iconv": Options("", "o", (), ("--output",)),
    "yq": Options("", "i", (), ("--inplace", "--split-exp")),
    "tree": Options("", "o"),
    "date": Options("", "s", (), ("--set",)),
    "pandoc": Options("F", "o", ("--filter", "--lua-filter", "--pdf-engine"), ("--output", "--extract-media")),
    "ip": Options("b", "", ("-batch", "exec")),
    "mapfile": Options("C"), "readarray": Options("C"),
    "xxd": Options(),
    "uniq": Options(),
}  # fmt: skip

PREFIXES: Final = frozenset(
    ("env", "nice", "timeout", "time", "nohup", "setsid", "ionice", "stdbuf", "exec", "command", "builtin", "coproc",
     "xargs", "sudo", "doas", "pkexec", "run0", "systemd-run", "chroot", "unshare", "nsenter", "setpriv", "flock",
     "watch", "strace", "ltrace", "gdb", "parallel", "entr", "setarch", "linux32", "linux64", "taskset", "chrt",
     "cpulimit", "numactl", "busybox", "toybox", "eval", "source", ".", "trap", "runuser", "su", "script", "expect",
     "start-stop-daemon", "dbus-launch", "dbus-run-session", "xvfb-run", "ssh-agent", "at", "batch", "crontab",
     "caffeinate", "catchsegv", "proot", "fakeroot", "firejail", "bwrap", "winpty", "unbuffer", "rlwrap", "hyperfine")
)  # fmt: skip
"""Programs whose operands are a command: a rule for one of them must not allow whatever it runs."""

EVALUATING: Final = frozenset(("declare", "typeset", "local", "readonly", "export", "let", "unset", "read", "mapfile",
                               "readarray", "test", "[[", "printf", "getopts", "wait"))  # fmt: skip
"""Builtins that evaluate a name they are given, with the substitutions in its subscript: `typeset 'x[$(id)]=1'`."""

TEXT_ONLY: Final = frozenset(("echo", "printf", "true", "false", ":", "test", "[", "[[", "expr", "seq", "yes"))
"""Programs for which every word is text."""

SHELLS: Final = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish"))
