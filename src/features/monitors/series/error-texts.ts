import type { CheckError } from '../../../checks/check'
import type { Series } from '../../../core/db/series/series'
import type { CheckSeries } from './check-series'
import { errorOf, textOf } from './result-beat'

const maxCached = 10_000

/** Stores error texts, once a day each, and looks them up by number. */
export class ErrorTexts {
  private day = 0
  private readonly written = new Set<string>()
  private readonly known = new Map<number, CheckError>()

  constructor(private readonly series: Series<CheckSeries>) {}

  /** Ensures that each error is stored and marked as used on this day. */
  async write(errors: readonly CheckError[], day: number): Promise<void> {
    if (day !== this.day || this.written.size > maxCached) this.written.clear()
    this.day = day
    const fresh = [...new Set(errors.map(textOf))].filter(text => !this.written.has(text))
    if (fresh.length === 0) return
    await this.series.putTexts(fresh, day)
    for (const text of fresh) this.written.add(text)
  }

  /** Call this when the stored texts were lost. */
  forget(): void {
    this.written.clear()
  }

  /** Looks up errors by number. An error whose text was deleted gets a placeholder. */
  async find(numbers: readonly (number | null)[]): Promise<(number: number | null) => CheckError | null> {
    if (this.known.size > maxCached) this.known.clear()
    const missing = [...new Set(numbers)].filter((one): one is number => one !== null && !this.known.has(one))
    for (const [number, text] of await this.series.texts(missing)) this.known.set(number, errorOf(text))
    return number =>
      number === null
        ? null
        : (this.known.get(number) ?? { kind: 'internal', message: 'The error message is no longer available.' })
  }
}
