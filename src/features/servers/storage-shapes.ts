/** Where volumes and snapshots come from: created here, or read from a cloud account. */
export const storageOrigins = ['made', 'found'] as const
