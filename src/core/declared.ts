/**
 * What core checks without knowing it: the lists in src/features/{audit-actions,event-kinds,notice-kinds,…}.ts add their types here
 * with `declare module`. Grep for `interface Declared` to find them.
 */
export interface Declared {}
