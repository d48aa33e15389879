import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'

/** Types of private keys of certificates. */
export const keyTypes = ['ec-256', 'ec-384', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const
export type KeyType = (typeof keyTypes)[number]

const generate = promisify(generateKeyPair) as (type: string, options: object) => Promise<{ privateKey: string }>

/** Creates a private key. Returns it as PEM (PKCS #8). */
export async function createPrivateKey(type: KeyType): Promise<string> {
  const [algorithm, bits] = type.split('-') as ['ec' | 'rsa', string]
  const encoding = {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }
  const options = algorithm === 'ec' ? { namedCurve: `P-${bits}` } : { modulusLength: Number(bits) }
  return (await generate(algorithm, { ...options, ...encoding })).privateKey
}
