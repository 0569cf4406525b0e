"""What exactness adds to the papers: how far what they search for is from what there is. Ours."""
