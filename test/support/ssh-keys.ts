/** Public keys, and their fingerprints as printed by `ssh-keygen -l`. */
export const sshKeys = {
  ed25519: {
    text: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICXscjhzTWLVPvhgGKAe+b9UXjWMYquyP8JC7sTzA2JQ alice@laptop',
    fingerprint: 'SHA256:6hqALqXHTJ0/WdywFklYpjqOP2btV/5JB9uYHkawYTk',
  },
  ecdsa256: {
    text: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBD4OLHZOQKkhKc85FxhwpwOWvpWtTT5xcIzpUrN2l0OyOnKCJDkVXmSpd7FrSxVTF5nJsksrYSy42Pi8uO9zims=',
    fingerprint: 'SHA256:TkOWghee3VL+LYN6PUX78YWnK2BR5kALrbyhlhRkZEM',
  },
  ecdsa384: {
    text: 'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBJNBMxfpaGVccHEmDPeQV5G3IwmPEcIoOV/0VxCbpI9sTJtMsfhBbPxoDG6aa2budHrk2ziZwHeTog7EC52e9b5X7/uNoh5dRFNwdB1JMFt40dmeP7jErrvjaIU3n06S6g==',
    fingerprint: 'SHA256:mxj4WE9rA9DTOnas66ErhpLfqAr7zI2PixWzscxr45c',
  },
  ecdsa521: {
    text: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAGIdpdJO78hSp5YkJr/Yxfx2VGTPdws5HulPNhzy0YKOEfLI+Q8S1X3Cfv72HDCEZ4ALvlQru8MTx2QCKJOPF3W6QAzGArFjnWf8kfUT5upWTFp+dBvnYiX4VDHAN+/46FasDRf6l2SQmPpUECmJYAjV5G7IlicKCk2esn9x5fXLX217g==',
    fingerprint: 'SHA256:YhuVMctcASkaxsZVs+Z8spq9JNYw1Sn90gcL+oGwTO4',
  },
  rsa2048: {
    text: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDGYFtDzjzcPldTOh5g0yGL7cbwdno4ak6m9hyjaftiV+UgqFjXCaZI4ZbmPhUcea5gtdJGwjCn9iNb004cbJMrixObjtPGwjkqsUFpoFzAfD/eeclFZIAQoIv+E1gluI2QsjCaC+yV58Rou//QZOxB7Z8Cy4gi8DgwfKwlpiR7FmwIa8yWCDmzTJY9nEd+kwuRyWiDCu0VrsCaRO9GJWHE6v0leo86fKV8S0pj6e5QtWrsctUbV2hhDwwehqe/ebTbFqpychvVt1PC27c+6z+V7fYGNL9lHf0vditi9meRE0ffsU+WZuc0QCCKGAibmWPorfnmCJogUPadSRITv0ZV',
    fingerprint: 'SHA256:VCaRty89NwddrgawU8HM5PyXRZBiZElzGN0O7XvEzoc',
  },
  rsa3072: {
    text: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCYtslzCcJ1OcoQriKLgXgvkCYI3+pERBatsWQKQkMm+CBDYdecwbwxT34oz+aG+Z+1mPAq7W+cBC1q15C88RQlnFrMdsOGV1sz8xy/mJyKJ4J+fAeMoTE8CQ9UOoL9gSrxP4mYBI2IOOG+esUet1ZLQBKj3Ohtf0XBQ9gLjk/e8xvtvFqeSWmf5TU0q9onpEj0Y2RtZLt6AohSvZE1Yrm70tbD8VjcAj3LWNi8kv8qje8DPlEONiTnAln5RscAagmsZugGAzhnjcYHvyTapJEFYsDoT2aitUDNsgyzFYvDbps2YFd+lk3MXehG2RHD393jsmMSagrc3BYriMPAABKLjg+47sPOBccP3jMD4KTr85le3rngl+dIDRHBR2k4rU+so3miHpTg7TgpmmO3EdvGlm1EOchoSBM8KQEbjF/06sAnzEEMu7zzVOyHD0gMrNsBzDojeAE1BjsPp+QICbIKsT/PoQHjRw/9x7JxkJ6UzYVRTld6rGPGEfZk+ogeP7c=',
    fingerprint: 'SHA256:d25KontTJDM3LWJHTn7VbOQrnQ7fkr1rHC1a6frf82k',
  },
} as const

/** Keys that are too weak. */
export const weakSshKeys = {
  rsa1024:
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC5A0U2QU6It8bFV70CHwa37iBPk/JX4eJeieYqTHT/R23ou6wTzylFcffjtv7JsV5ZEDY+kVXBItoD0hDs/i65puLoRavA0tsynYLBr9fVMygvNedmOH2/mUfIvaBVWrKBL4EQpOenTAl2ikUL5bBcbXVKtqGwCCcyM51lL0fJ2w==',
  dsa: 'ssh-dss AAAAB3NzaC1kc3MAAACBANv4GSkVh+JTOo2hViipg74FzpOwGg+s/hj6Bf14n0N228qMvp/SLeaBf1u22CDQ6TH5/qAl+f1qcS9qveuD8aSV5Uu+FNO2mczL7OktXnr7qPN3xFulTL1N2OCXN7nuf3w4HGavIstRxbycjnA7WBtxdImFnB6ie4ZsUa4c+zsVAAAAFQDE50lCoSJWczdZyUa/7bOvXGaxdQAAAIBcb6ZhXwj8AUgMlMFGkuf2e6KAY/1UBCNEtsGgplLhykVWlyGUucYr3DNqlB8qMLMOYzKnplWhj4nTu5miU1JeK69YbwWPSKBMtKgEumrZReW3k7pJ+ZYOIQhc2eurqZN5oRooCFJ+2v01EkTS57lo/GsW0Yd9vzppPXYKF8MWPwAAAIEAtEEzCdYG8HsqGuiz53IpuaiPiEiJ9KCSn7XQIf/MJEwaxS4ot8Ckd6MUiSjfvJiZHPMFeII2fQRtn0IA1j4lgZZhnkT+705ejyZynP6avakKg/xJX8RUigQxha+kBaJczIzoFvJp9idgQ/e6iMCe+7AUiZQIBFUqNrxE28Kf7m4=',
}

/** Fields with their lengths, as in public keys (RFC 4251 section 5). */
export const sshFields = (...fields: (string | Uint8Array)[]): Buffer =>
  Buffer.concat(
    fields.flatMap(field => {
      const octets = Buffer.from(field as Uint8Array)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(octets.length)
      return [length, octets]
    }),
  )

/** A public key with these fields after its algorithm. */
export const sshKeyOf = (algorithm: string, ...fields: (string | Uint8Array)[]): string =>
  `${algorithm} ${sshFields(algorithm, ...fields).toString('base64')}`

const fieldOf = (text: string, at: number): Buffer => {
  let octets = Buffer.from(text.split(' ')[1]!, 'base64')
  for (let n = 0; n < at; n++) octets = octets.subarray(4 + octets.readUInt32BE(0))
  return octets.subarray(4, 4 + octets.readUInt32BE(0))
}

/** Keys of FIDO security keys. */
export const securityKeys = {
  ed25519: sshKeyOf('sk-ssh-ed25519@openssh.com', fieldOf(sshKeys.ed25519.text, 1), 'ssh:'),
  ecdsa: sshKeyOf('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', fieldOf(sshKeys.ecdsa256.text, 2), 'ssh:'),
}
