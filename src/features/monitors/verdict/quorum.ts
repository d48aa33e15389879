/** How many of the voting locations must report a monitor as down: more than half, any one, all, or a fixed number. */
export type Quorum = 'majority' | 'any' | 'all' | number
