/**
 * What somebody else's server says, as people are shown it and as it is kept: one line of bounded length, of characters that every
 * database and every terminal takes.
 */
export function toldLine(text: string, most = longestTold): string {
  const line = text
    .slice(0, 10 * most)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return (line.length > most ? `${line.slice(0, most)}…` : line).toWellFormed()
}

// A sentence of ours, and some of theirs in it.
const longestTold = 800
