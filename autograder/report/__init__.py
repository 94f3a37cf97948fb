"""What a person reads: a feedback page for each submission, and the lines that the terminal shows."""
