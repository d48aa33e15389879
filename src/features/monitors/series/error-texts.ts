import type { CheckError } from '../../../checks/check'
import type { SeriesStore } from '../../../core/db/series'
import { errorOf, textOf } from './taken'

const mostKept = 10_000

/** Writes the texts of errors down once a day, and finds them by their numbers. */
export class ErrorTexts {
  private day = 0
  private readonly written = new Set<string>()
  private readonly known = new Map<number, CheckError>()

  constructor(private readonly series: SeriesStore) {}

  /** Makes sure that each of these is written down, and counts as used on this day. */
  async write(errors: readonly CheckError[], day: number): Promise<void> {
    if (day !== this.day || this.written.size > mostKept) this.written.clear()
    this.day = day
    const fresh = [...new Set(errors.map(textOf))].filter(text => !this.written.has(text))
    if (fresh.length === 0) return
    await this.series.putTexts(fresh, day)
    for (const text of fresh) this.written.add(text)
  }

  /** To be called when what was written down is gone. */
  forget(): void {
    this.written.clear()
  }

  /** The errors of these numbers. One whose text is gone is told as such. */
  async find(numbers: readonly (number | null)[]): Promise<(number: number | null) => CheckError | null> {
    if (this.known.size > mostKept) this.known.clear()
    const missing = [...new Set(numbers)].filter((one): one is number => one !== null && !this.known.has(one))
    for (const [number, text] of await this.series.texts(missing)) this.known.set(number, errorOf(text))
    return number =>
      number === null ? null : (this.known.get(number) ?? { kind: 'internal', message: 'What was wrong is no longer known.' })
  }
}
