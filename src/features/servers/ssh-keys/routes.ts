import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { SshKey, SshKeyInput, SshKeyList, SshKeyPatch } from './shapes'
import { createSshKey, deleteSshKey, getSshKey, listSshKeys, sshKeyListing, updateSshKey } from './ssh-keys'

export const sshKeyRoutes = area(
  'ssh-keys',
  'Servers and cloud',
  crud({
    type: 'ssh_key',
    response: SshKey,
    list: { description: 'Lists the SSH keys.', listing: sshKeyListing, response: SshKeyList, run: listSshKeys },
    create: {
      description:
        'Adds a public key. New servers can then be created with it. Private keys are rejected, and are neither stored nor logged.',
      body: SshKeyInput,
      problems: ['already_exists', 'conflict'],
      run: createSshKey,
    },
    get: { description: 'Returns an SSH key.', run: getSshKey },
    update: {
      description: 'Updates the given fields. The public key can’t be changed: add another key instead.',
      body: SshKeyPatch,
      problems: ['already_exists'],
      run: updateSshKey,
    },
    delete: {
      description: 'Deletes an SSH key. Servers that were created with it are not changed and keep accepting it.',
      run: deleteSshKey,
    },
  }),
)
