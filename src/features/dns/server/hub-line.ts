import type { FromServer, HubAnswers, HubQuestion } from './messages'

type Kind = HubQuestion['kind']

const answerWithinMs = 5000
// Beyond that somebody asks for more than the hub gets done.
const mostWaiting = 200

/** The thread's questions to the hub. */
export class HubLine {
  readonly #waiting = new Map<number, (answer: unknown) => void>()
  #last = 0

  constructor(private readonly tell: (message: FromServer) => void) {}

  /** @returns undefined when no answer comes in time, or too much is asked already */
  ask<K extends Kind>(question: HubQuestion & { kind: K }): Promise<HubAnswers[K] | undefined> {
    if (this.#waiting.size >= mostWaiting) return Promise.resolve(undefined)
    const id = ++this.#last
    return new Promise(resolve => {
      const timer = setTimeout(() => this.take(id, undefined), answerWithinMs)
      this.#waiting.set(id, answer => {
        clearTimeout(timer)
        resolve(answer as HubAnswers[K] | undefined)
      })
      this.tell({ kind: 'asks', id, question })
    })
  }

  /** The hub's answer to a question. */
  take(id: number, answer: unknown): void {
    this.#waiting.get(id)?.(answer)
    this.#waiting.delete(id)
  }
}
