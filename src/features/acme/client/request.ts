import { loadAcmeLibrary } from './library'

/** Creates a certificate request. @param key PEM of the private key @returns PEM */
export async function createRequest(names: readonly string[], key: string): Promise<string> {
  const { crypto } = await loadAcmeLibrary()
  const [, csr] = await crypto.createCsr({ altNames: [...names] }, key)
  return csr.toString()
}
