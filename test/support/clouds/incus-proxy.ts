import { ApiDouble, type ApiRequest, type ApiResponse } from '../api-double'
import type { IncusServer } from './incus-server'

/** A proxy in front of a real server, which can lose requests and responses. It trusts every client. */
export class IncusProxy extends ApiDouble {
  /** @param tls certificate and key in PEM */
  constructor(
    private readonly server: IncusServer,
    tls: { cert: string; key: string },
  ) {
    super('', tls)
  }

  protected async answer({ method, path, query, text }: ApiRequest): Promise<ApiResponse> {
    const body = text === '' ? undefined : text
    return await this.server.request(method, `${path}?${query}`, body, { 'content-type': 'application/json' })
  }
}
