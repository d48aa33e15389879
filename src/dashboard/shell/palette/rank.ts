import uFuzzy from '@leeoniya/ufuzzy'

// Letters of all alphabets, as in the documentation of the library.
const letters = {
  unicode: true,
  interSplit: String.raw`[^\p{L}\d']+`,
  intraSplit: String.raw`\p{Ll}\p{Lu}`,
  intraBound: String.raw`\p{L}\d|\d\p{L}|\p{Ll}\p{Lu}`,
  intraChars: String.raw`[\p{L}\d']`,
  intraContr: String.raw`'\p{L}{1,2}\b`,
}
/** Finds words in any order, with one typo each: “montior” finds “Create monitor”. */
const words = new uFuzzy({ ...letters, intraMode: 1 })
/** Finds letters in their order: “crmon” finds “Create monitor”. */
const abbreviations = new uFuzzy({ ...letters, intraMode: 0, intraIns: Infinity, intraChars: '.' })

// Also the number of words that are tried in every order.
const maxWords = 4
const maxRanked = 10_000

/** Finds texts that resemble a query. @returns their indexes, best first */
export function rank(texts: readonly string[], query: string): number[] {
  const plain = uFuzzy.latinize([...texts])
  const wanted = uFuzzy.latinize(query.trim())
  for (const matcher of [words, abbreviations]) {
    const [, info, order] = matcher.search(plain, wanted, maxWords, maxRanked)
    if (order && order.length > 0) return order.map(at => info.idx[at]!)
  }
  return []
}

/** How well a title matches a query: 0 if they are the same, 1 if it starts with it, 2 if its words do, 3 otherwise. */
export function closeness(title: string, query: string): 0 | 1 | 2 | 3 {
  const [own, wanted] = [title, query].map(text => uFuzzy.latinize(text.trim().toLowerCase())) as [string, string]
  if (own === wanted) return 0
  if (own.startsWith(wanted)) return 1
  const starts = wordsOf(own)
  return wordsOf(wanted).every(word => starts.some(start => start.startsWith(word))) ? 2 : 3
}

/** The words of a text, in lowercase. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d']+/gu) ?? []
