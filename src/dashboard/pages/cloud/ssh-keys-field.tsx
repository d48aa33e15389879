import type { SshKeyView } from '../../../features/servers/ssh-keys/shapes'
import { toggled } from '../../parts/choices'
import { FieldFrame, useForm } from '../../parts/form'
import { Checkbox, Textarea } from '../../parts/input'
import { useList } from '../../queries'

/** SSH keys of the workspace, and other public keys. */
export function SshKeysField({ isRequired }: { isRequired: boolean }) {
  const { values, set } = useForm()
  const keys = useList<SshKeyView>('/ssh-keys', { sort: 'name' }).rows
  const chosen = values.ssh_keys as readonly string[]
  const defaults = keys.filter(one => one.default)
  const hint =
    defaults.length > 0
      ? `Without any, the server gets the default keys: ${defaults.map(one => one.name).join(', ')}.`
      : isRequired
        ? 'At least one is required to sign in.'
        : 'Without any, nobody can sign in by SSH.'
  return (
    <FieldFrame name="ssh_keys" label="SSH keys" hint={hint} reads={['ssh_keys', 'public_keys']}>
      {attributes => (
        <div {...attributes} role="group" aria-label="SSH keys" className="flex flex-col gap-2">
          {keys.length > 0 && (
            <div className="flex flex-wrap gap-3">
              {keys.map(one => (
                <Checkbox
                  key={one.id}
                  title={one.fingerprint}
                  checked={chosen.includes(one.id)}
                  onCheck={isIn => set({ ssh_keys: toggled(chosen, one.id, isIn) })}
                >
                  {one.name}
                </Checkbox>
              ))}
            </div>
          )}
          <Textarea
            aria-label="Other public keys, one per line"
            mono
            rows={2}
            placeholder={`${keys.length > 0 ? 'Other public keys, one per line: ' : ''}ssh-ed25519 AAAA… you@example.com`}
            value={String(values.public_keys)}
            onText={text => set({ public_keys: text })}
          />
        </div>
      )}
    </FieldFrame>
  )
}
