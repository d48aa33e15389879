/** Random numbers in [0, 1), the same for the same seed: mulberry32, which is in the public domain. */
export function mulberry32(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number from 0 to below the given one. */
export type Random = (below: number) => number

/** Whole numbers, the same for the same seed. */
export function generator(seed: number): Random {
  const random = mulberry32(seed)
  return below => Math.floor(random() * below)
}

/** How many spoiled inputs a test tries: as given, or as many as a long run asks for, `BAILIWICK_TEST_FUZZ=1000000 bun test …`. */
export const tries = (usual: number): number => Number(process.env.BAILIWICK_TEST_FUZZ ?? usual)
