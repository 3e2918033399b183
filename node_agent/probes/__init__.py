"""Running a tool on the node, safely, and telling each line as it comes."""
