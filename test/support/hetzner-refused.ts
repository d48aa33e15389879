/** An error response of the Hetzner Cloud API. */
export class HetznerRefused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: object | null = null,
  ) {
    super(message)
  }
}

export const invalidInput = (field: string, message: string) =>
  new HetznerRefused(422, 'invalid_input', `invalid input in field '${field}'`, {
    fields: [{ name: field, messages: [message] }],
  })

export const notFound = (what: string) => new HetznerRefused(404, 'not_found', `${what} not found`)
