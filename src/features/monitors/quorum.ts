/** How many of the locations that have a say must find a monitor down: more than half, one, all, or a number. */
export type Quorum = 'majority' | 'any' | 'all' | number
