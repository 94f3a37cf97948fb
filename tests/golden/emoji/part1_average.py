"""A comment that makes Windows and LC_ALL=C stumble: 🦄 名前."""

α = "🦄"
print(α)
# INSERT right
