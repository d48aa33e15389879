import { readNumberedPages } from '../../../adapters/numbered-pages'
import { hetznerAction, HetznerApi, type HetznerAccess } from '../../../vendors/hetzner'
import { ProviderError, type AdapterContext } from './provider'

/** Client of zones in the Hetzner Cloud API. Changes are actions, which can finish later. */
export class HetznerClient extends HetznerApi {
  constructor(access: HetznerAccess, around: AdapterContext) {
    super(access, around, { not_found: 'zone_not_found' })
  }

  /** Reads a complete list. @param path with at least one query parameter. @param member of the response with the rows */
  async all(path: string, member: string, perPage: number): Promise<Record<string, unknown>[]> {
    return await readNumberedPages(this.around.clock, page => this.page(path, member, page, perPage))
  }

  /**
   * Sends a change and waits until it is finished.
   * @throws ProviderError as `mayHaveApplied` tells
   */
  async change(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await this.send(method, path, body)
    await this.#finished(response)
    return response
  }

  /** Waits, such as for another change to finish. */
  async pause(ms: number): Promise<void> {
    await new Promise<void>(resolve => this.around.clock.after(ms, resolve))
  }

  async #finished(response: Record<string, unknown>): Promise<void> {
    const end = this.around.clock.now() + actionTimeoutMs
    let action = hetznerAction(response.action)
    for (let delay = minDelayMs; action.status === 'running'; delay = Math.min(delay * 2, maxDelayMs)) {
      if (this.around.clock.now() + delay > end)
        throw new ProviderError('timeout', 'Hetzner did not finish the change within 30 seconds.', null, true)
      await this.pause(delay)
      action = hetznerAction((await this.#ofAction(action.id)).action)
    }
    if (action.error) throw this.failed(action)
  }

  /** Any error says nothing about the action. */
  async #ofAction(id: number): Promise<Record<string, unknown>> {
    try {
      const { requestAtOnce } = this.around
      return await this.get(`/actions/${id}`, { ...this.around, ...(requestAtOnce && { request: requestAtOnce }) })
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      throw new ProviderError(error.failure, error.message, error.retryAfterMs, true)
    }
  }
}

// Actions of zones take less than a second as a rule.
const minDelayMs = 300
const maxDelayMs = 5000
const actionTimeoutMs = 30_000
