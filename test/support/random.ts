import { mulberry32 } from '../../src/cli/demo/random'

export { mulberry32 }

/** A whole number from 0 to below the given one. */
export type Random = (below: number) => number

/** Whole numbers, the same for the same seed. */
export function generator(seed: number): Random {
  const random = mulberry32(seed)
  return below => Math.floor(random() * below)
}

/** How many spoiled inputs a test tries: as given, or as many as a long run asks for, `BAILIWICK_TEST_FUZZ=1000000 bun test …`. */
export const tries = (usual: number): number => Number(process.env.BAILIWICK_TEST_FUZZ ?? usual)
