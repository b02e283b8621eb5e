"""What a person sees: one task per file; files with a leading underscore are shared by the pages."""
