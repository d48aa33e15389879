/** A time typed in the person's own zone as the API takes it; empty for none or half of one. */
export function isoOf(local: string): string {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
