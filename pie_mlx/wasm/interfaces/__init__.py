"""What components import of Pie: `pie:core`, `pie:instruct`, `pie:mcp` and `pie:zo`. Names are those of the WIT."""
