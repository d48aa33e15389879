import { mulberry32 } from '../../src/cli/demo/random'

export { mulberry32 }

/** Returns an integer from 0 up to, but not including, the limit. */
export type Random = (limit: number) => number

/** Generates the same integers for the same seed. */
export function generator(seed: number): Random {
  const random = mulberry32(seed)
  return limit => Math.floor(random() * limit)
}

/** Number of mutated inputs to try. Override it for a long run: `BAILIWICK_TEST_FUZZ=1000000 bun test …`. */
export const tries = (usual: number): number => Number(process.env.BAILIWICK_TEST_FUZZ ?? usual)
