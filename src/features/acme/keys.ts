import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { hasPrivateKey } from '../../core/net/pem'
import { Problem } from '../../core/problem'

/** Types of keys that are created here. */
export const acmeKeyTypes = ['ec-256', 'ec-384', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const
export type AcmeKeyType = (typeof acmeKeyTypes)[number]

const generate = promisify(generateKeyPair) as (type: string, options: object) => Promise<{ privateKey: string }>

/** Refuses a field with a private key, before anything else of it is checked. @throws Problem 422 `private_key_refused` */
export function refusePrivateKey(pointer: string, text: string | null | undefined): void {
  if (!text || !hasPrivateKey(text)) return
  const detail = 'must not contain a private key. Nothing of the request was stored.'
  throw new Problem('private_key_refused', `\`${pointer.slice(2)}\` ${detail}`, {
    errors: [{ pointer, code: 'private_key', detail }],
  })
}

/** Creates a private key. Returns it as PEM (PKCS #8). */
export async function createPrivateKey(type: AcmeKeyType): Promise<string> {
  const [algorithm, bits] = type.split('-') as ['ec' | 'rsa', string]
  const encoding = {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }
  const options = algorithm === 'ec' ? { namedCurve: `P-${bits}` } : { modulusLength: Number(bits) }
  return (await generate(algorithm, { ...options, ...encoding })).privateKey
}
