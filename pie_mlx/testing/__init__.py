"""What pytest needs to test programs: the plugin `pie`, which comes with this package."""
