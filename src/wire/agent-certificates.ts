import { Type, type Static } from '@sinclair/typebox'
import { Line, Nullable, Shape, Words } from '../core/shapes'
import { certificateFileKinds, certificateLimits, startTlsProtocols } from './agent-limits'

/** Certificates that an agent found in files and on ports. The agent imports only the types. */

const words = (maxLength: number, description: string) => Line({ minLength: 1, maxLength, description })
const maybeWords = (maxLength: number, description: string) => Nullable(words(maxLength, description), { description })
const mode = (description: string) => Type.String({ pattern: '^[0-7]{4}$', description })
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the DER form, in hexadecimal.' })
const chain = Type.Array(Sha256, {
  maxItems: certificateLimits.chain,
  description: 'SHA-256 of each certificate, the one of the server first.',
})

const File = Shape({
  path: words(certificateLimits.path, 'Path of the file, or of a folder that could not be read.'),
  kind: Words(certificateFileKinds, { description: 'What manages or uses the file.' }),
  chain,
  modified_at: Nullable(Type.Integer({ minimum: 0, maximum: 8.64e15 }), {
    description: 'When the file was last modified (ms UTC). Null if unknown.',
  }),
  mode: Nullable(mode('File mode.'), { description: 'File mode in octal, such as `0644`. Null if unknown.' }),
  owner: maybeWords(100, 'Name or ID of the owner. Null if unknown.'),
  references: Type.Array(words(300, 'Reference, such as `nginx: shop.example.com`.'), {
    maxItems: certificateLimits.references,
    description: 'Services whose configuration names the file, with the server name if there is one.',
  }),
  key: Nullable(
    Shape({
      path: words(certificateLimits.path, 'Path.'),
      mode: Nullable(mode('File mode.'), { description: 'File mode in octal. Null if unknown.' }),
      owner: maybeWords(100, 'Name or ID of the owner. Null if unknown.'),
      matches: Nullable(Type.Boolean(), {
        description: 'Whether it is the private key of the certificate. Null if it could not be read.',
      }),
    }),
    { description: 'The file with the private key, whose content is never sent. Null if none was found.' },
  ),
  error: maybeWords(300, 'Why it could not be read. Null if it could.'),
})

const Served = Shape({
  address: words(45, 'IP address on which the socket listens.'),
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port.' }),
  process: maybeWords(100, 'Name of the program. Null if unknown.'),
  starttls: Nullable(Words(startTlsProtocols), {
    description: 'Protocol that switches to TLS after the connection was made. Null if TLS starts at once.',
  }),
  sni: maybeWords(253, 'Server name that was sent. Null: none.'),
  protocol: maybeWords(20, 'Version of TLS, such as `1.3`. Null if there was no handshake.'),
  chain,
  error: maybeWords(300, 'Why there is no certificate. Null if there is one.'),
})

export const AgentCertificates = Shape(
  {
    files: Type.Array(File, { maxItems: certificateLimits.files, description: 'Files with certificates.' }),
    served: Type.Array(Served, {
      maxItems: certificateLimits.served,
      description: 'Certificates that TCP ports present, for each server name.',
    }),
    certificates: Type.Array(
      Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$', maxLength: Math.ceil(certificateLimits.certificateBytes / 3) * 4 }),
      {
        maxItems: certificateLimits.certificates,
        description: 'The certificates of the files and ports, each once, as DER in base64.',
      },
    ),
  },
  { description: 'All certificates that the agent found. Replaces those of previous reports. Omitted if nothing has changed.' },
)
export type AgentCertificates = Static<typeof AgentCertificates>
export type AgentCertificateFile = AgentCertificates['files'][number]
export type AgentServedCertificate = AgentCertificates['served'][number]
