/** From and to, both counted in. */
export type StatusRange = readonly [number, number]

const usual: readonly StatusRange[] = [[200, 299]]

/** Status codes that are accepted, of their texts: `404`, `200-299`. */
export const statusRanges = (texts: readonly string[] | undefined): readonly StatusRange[] =>
  texts?.map(text => {
    const [from, to = from] = text.split('-').map(Number) as [number, number?]
    return [from, to!]
  }) ?? usual

export const isAccepted = (status: number, ranges: readonly StatusRange[]): boolean =>
  ranges.some(([from, to]) => status >= from && status <= to)
