import { members } from '../../core/members'
import { Prose, Tags } from '../../core/shapes'

export const trusts = ['public', 'private', 'self_signed', 'untrusted'] as const

export const certificateMembers = members({
  tags: { schema: Tags, default: [] },
  notes: { schema: Prose({ maxLength: 10_000, description: 'Notes about the certificate.' }), default: '', clearable: true },
})
