"""What should a person see? Figures and pages, from records alone; nothing here needs torch."""
