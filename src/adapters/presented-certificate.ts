import { FetchFailed } from '../core/net/fetch-failure'
import type { AdapterContext } from './context'
import { AdapterError } from './failure'

/**
 * Runs a check of a system whose certificate can be pinned. If the certificate was rejected and nothing is pinned, the error tells its
 * fingerprint, so that a person can compare it.
 */
export async function checkWithFingerprint<T>(
  check: () => Promise<T>,
  { url, fingerprint }: { url?: string; fingerprint?: string },
  around: AdapterContext,
): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof AdapterError) || url === undefined || fingerprint !== undefined || !/certificate/.test(error.message))
      throw error
    const seen = await presented(url, around)
    if (seen === undefined) throw error
    throw new AdapterError(error.failure, `${error.message} ${fingerprintAdvice(seen)}`, null, error.ambiguous)
  }
}

/** What to do about a certificate that was rejected. @param seen its fingerprint */
export const fingerprintAdvice = (seen: string): string =>
  `Its SHA-256 fingerprint is ${seen}. If it is the certificate of your server, enter it as the fingerprint.`

async function presented(url: string, around: AdapterContext): Promise<string | undefined> {
  try {
    return await around.presentedFingerprint?.(url)
  } catch (error) {
    if (error instanceof FetchFailed) return undefined
    throw error
  }
}
