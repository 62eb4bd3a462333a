"""Facts read off a plan by the traits of its nodes: bounds, lifetimes, keys, variables, stages."""
