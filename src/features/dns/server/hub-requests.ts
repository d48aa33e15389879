import type { FromServer, HubResponses, HubRequest } from './messages'

type Kind = HubRequest['kind']

const timeoutMs = 5000
// More than this means that the hub can't keep up.
const maxPending = 200

/** Requests from the name server thread to the hub. */
export class HubRequests {
  readonly #pending = new Map<number, (answer: unknown) => void>()
  #lastId = 0

  constructor(private readonly send: (message: FromServer) => void) {}

  /** @returns undefined on a timeout, or if too many requests are pending */
  request<K extends Kind>(question: HubRequest & { kind: K }): Promise<HubResponses[K] | undefined> {
    if (this.#pending.size >= maxPending) return Promise.resolve(undefined)
    const id = ++this.#lastId
    return new Promise(resolve => {
      const timer = setTimeout(() => this.resolve(id, undefined), timeoutMs)
      this.#pending.set(id, answer => {
        clearTimeout(timer)
        resolve(answer as HubResponses[K] | undefined)
      })
      this.send({ kind: 'request', id, question })
    })
  }

  /** Resolves a request with the response of the hub. */
  resolve(id: number, answer: unknown): void {
    this.#pending.get(id)?.(answer)
    this.#pending.delete(id)
  }
}
