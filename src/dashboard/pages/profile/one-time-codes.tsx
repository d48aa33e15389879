import { useState } from 'react'
import type { NewOneTimeCodes, NewRecoveryCodes } from '../../../access/factor-shapes'
import type { UserView } from '../../../access/user-shapes'
import { Button } from '../../parts/button'
import { Copied, Code } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Form, SecretField, TextField } from '../../parts/form'
import { Card, Facts } from '../../parts/page'
import { Status } from '../../parts/status'
import { useSend } from '../../queries'
import { QrCode } from './qr-code'

type Asked = 'begin' | 'renew' | 'remove' | null
const stale = ['/users', '/sessions']

/** Codes of a program as the second factor of a sign-in, with recovery codes for when it is lost. */
export function OneTimeCodes({ user }: { user: UserView }) {
  const { one_time_codes: isOn, recovery_codes_left: left } = user.second_factor
  const [asked, setAsked] = useState<Asked>(null)
  const [secret, setSecret] = useState<NewOneTimeCodes | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setAsked(null)
  const begin = useSend<NewOneTimeCodes>({
    quiet: true,
    onDone: made => {
      close()
      setSecret(made)
    },
  })
  const told = (made: NewRecoveryCodes) => {
    close()
    setSecret(null)
    setCodes(made.recovery_codes ?? [])
  }
  const confirm = useSend<NewRecoveryCodes>({ quiet: true, done: 'One-time codes are on', stale, onDone: told })
  const renew = useSend<NewRecoveryCodes>({ quiet: true, stale, onDone: told })
  const remove = useSend({ quiet: true, done: 'One-time codes are off', stale, onDone: close })
  return (
    <Card
      title="One-time codes"
      actions={
        isOn ? (
          <>
            <Button small onClick={() => setAsked('renew')}>
              New recovery codes
            </Button>
            <Button small kind="bad" onClick={() => setAsked('remove')}>
              Turn off
            </Button>
          </>
        ) : (
          <Button small onClick={() => setAsked('begin')}>
            Turn on
          </Button>
        )
      }
    >
      <Facts
        rows={[
          ['State', <Status state={isOn ? 'on' : 'off'} mood={isOn ? 'ok' : 'idle'} />],
          ['Recovery codes left', isOn ? left : null],
        ]}
      />
      <p className="mt-2 text-[13px] text-muted">A program on your phone shows a code that is asked for after the password.</p>
      <Dialog open={asked === 'begin'} onClose={close} title="Turn one-time codes on">
        <Proof path="/users/me/one-time-codes" send={begin} action="Go on" onClose={close} />
      </Dialog>
      <Dialog open={asked === 'renew'} onClose={close} title="New recovery codes" description="The ones before stop working.">
        <Proof path="/users/me/recovery-codes" send={renew} action="Make them" onClose={close} />
      </Dialog>
      <Dialog
        open={asked === 'remove'}
        onClose={close}
        title="Turn one-time codes off?"
        description="The password alone then signs in."
      >
        <Proof path="/users/me/one-time-codes/remove" send={remove} action="Turn off" onClose={close} />
      </Dialog>
      <Dialog open={secret !== null} onClose={() => setSecret(null)} title="Scan this with your program">
        {secret?.secret && secret.uri && (
          <>
            <QrCode text={secret.uri} label="The secret as a QR code" />
            <p className="my-3 text-muted">Or type the key in:</p>
            <Copied text={secret.secret} label="the key" />
            <div className="mt-4">
              <Form
                initial={{ code: '' }}
                call={values => ({
                  method: 'POST',
                  path: '/users/me/one-time-codes/confirm',
                  body: { code: String(values.code).replace(/\s/g, '') },
                })}
                send={confirm.mutateAsync}
                pending={confirm.isPending}
                onCancel={() => setSecret(null)}
                action="Turn on"
              >
                <TextField name="code" label="The code it shows" autoComplete="one-time-code" mono autoFocus />
              </Form>
            </div>
          </>
        )}
      </Dialog>
      <Dialog
        open={codes !== null}
        onClose={() => setCodes(null)}
        title="Keep your recovery codes"
        description="Each signs in once in place of a code, for when the program is lost. They are shown this once."
      >
        {codes && <Code label="recovery codes" text={codes.join('\n')} />}
      </Dialog>
    </Card>
  )
}

interface ProofProps {
  path: string
  send: { mutateAsync: Parameters<typeof Form>[0]['send']; isPending: boolean }
  action: string
  onClose(): void
}

/** Asks for the password first: an open browser is not enough for this. */
export function Proof({ path, send, action, onClose }: ProofProps) {
  return (
    <Form
      initial={{ password: '' }}
      call={values => ({ method: 'POST', path, body: values })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action={action}
    >
      <SecretField name="password" label="Your password" autoComplete="current-password" autoFocus />
    </Form>
  )
}
