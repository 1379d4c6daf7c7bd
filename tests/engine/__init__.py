"""What each kind of rule means, case by case, and that every way of judging agrees."""
