/** The text that a glob pattern `*text*` looks for; null for other patterns. */
export function keywordOfGlob(glob: string): string | null {
  const [, pattern = ''] = /^\*(.+)\*$/s.exec(glob) ?? []
  return /^(?:[^\\*?[]|\\[\\*?[])+$/s.test(pattern) ? pattern.replace(/\\(.)/gs, '$1') : null
}
