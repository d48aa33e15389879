import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { editable, Line, ListOf, Prose, Shape, Words } from '../../../core/shapes'
import { keyAlgorithms } from './public-key'

const publicKey = 'Public key in OpenSSH format, with its comment.'

/** The members that clients set. The columns and the fields of requests and responses are made from them. */
export const sshKeyMembers = members({
  name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the SSH key, unique within the workspace.' }),
    required: true,
  },
  public_key: {
    schema: Type.String({ description: publicKey }),
    input: Prose({
      maxLength: 16_384,
      description:
        'Public key in OpenSSH format, such as the contents of `id_ed25519.pub`: Ed25519, ECDSA, RSA with at least 2048 bits, or a ' +
        'key of a FIDO security key. Private keys are rejected and never stored.',
    }),
    required: true,
    fixed: true,
  },
  default: {
    schema: Type.Boolean({ description: 'Whether new servers get this key if their request names no keys.' }),
    default: false,
  },
})

const exampleKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@laptop'

export const SshKey = Shape(
  {
    id: Type.String({ description: 'ID of the SSH key.' }),
    ...viewMembers(sshKeyMembers),
    algorithm: Words(keyAlgorithms, { description: 'Algorithm of the key, as in its public key.' }),
    fingerprint: Type.String({ description: 'Fingerprint of the key, as printed by `ssh-keygen -l`.' }),
    ...editable,
  },
  {
    $id: 'SshKey',
    description: 'A public key that new servers accept for SSH logins.',
    examples: [
      {
        id: 'sshk_01jd8f3q7eeb9bv0w0r8c7hq2m',
        name: 'Alice',
        public_key: exampleKey,
        default: true,
        algorithm: 'ssh-ed25519',
        fingerprint: 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
        version: 1,
        created_at: '2026-11-27T10:00:00.000Z',
        updated_at: '2026-11-27T10:00:00.000Z',
      },
    ],
  },
)
export const SshKeyList = ListOf(SshKey)
export const SshKeyInput = Shape(inputMembers(sshKeyMembers), {
  $id: 'SshKeyInput',
  description: 'An SSH key to add.',
  examples: [{ name: 'Alice', public_key: exampleKey, default: true }],
})
export const SshKeyPatch = Shape(patchMembers(sshKeyMembers), {
  $id: 'SshKeyPatch',
  description: 'Fields of the SSH key to update. To replace the key itself, add a new one.',
  examples: [{ default: false }],
})
export type SshKeyView = Static<typeof SshKey>
export type SshKeyInput = Static<typeof SshKeyInput>
export type SshKeyPatch = Static<typeof SshKeyPatch>
