/** Inclusive bounds. */
type StatusRange = readonly [number, number]

const defaultRanges: readonly StatusRange[] = [[200, 299]]

/** Parses status codes and ranges: `404`, `200-299`. */
export const statusRanges = (texts: readonly string[] | undefined): readonly StatusRange[] =>
  texts?.map(text => {
    const [from, to = from] = text.split('-').map(Number) as [number, number?]
    return [from, to!]
  }) ?? defaultRanges

export const isAccepted = (status: number, ranges: readonly StatusRange[]): boolean =>
  ranges.some(([from, to]) => status >= from && status <= to)
