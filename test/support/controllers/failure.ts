import { CloudError } from '../../../src/features/servers/clouds/cloud'

/** The failure and the message of a call that fails. */
export async function failureOf(call: Promise<unknown>): Promise<[failure: string, message: string]> {
  try {
    return ['none', JSON.stringify(await call)]
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    return [error.failure, error.message]
  }
}
