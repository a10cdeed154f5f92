"""Chinese-restaurant mixtures: chains and filters over partitions of rows, and what they say of new ones.

`problem`, `mixture`, `unlabelled`, `starts`, `trial`
    what a chain is given; its `init` and `step`; rows without a label; where a chain begins, and a short run that
    chooses
`co_assignment`
    partitions together: which rows share a group how often
`chains`
    independent chains through the one loop, what is kept, when they have settled
`predictive`, `ensemble`, `vote`, `group_numbers`
    what a state says of a row; states together; class probabilities by leave-one-out; how many groups there are
`cell_laws`, `fill`, `draw`, `block`
    the law of a cell in a group; missing cells by means and spreads; draws; correlated blocks
`classifier`, `clusterer`
    the recommended classifier: kinds of chains, pilots, members; one mixture of all rows: starts tried, chains
`filter`, `bank`, `stream`, `rejuvenation`, `online`
    one filter; a hypothesis about everything; rows coming in; early mistakes undone; all of it as an object
`soundness`
    whether loaded arrays fit together

A state is a dataclass of arrays throughout (`kernels/contract.py`), so a checkpoint, a saved model and a kernel's
argument are the same thing. A stream has a loop of its own, over rows rather than steps of chains: all its banks
take a part of the rows together, since they share the reservoir and are resampled against each other.
"""
