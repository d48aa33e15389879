/** Servers whose configuration is explained, with their names. */
export const configuredServers = {
  nginx: 'nginx',
  apache: 'Apache',
  caddy: 'Caddy',
  haproxy: 'HAProxy',
  postfix: 'Postfix',
} as const
export type ConfiguredServer = keyof typeof configuredServers

/** Lines of configuration by server; null where there is nothing to change. */
export type Configs = Readonly<Record<ConfiguredServer, string | null>>

const suites = [
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':')

/** TLS 1.2 and 1.3 alone. */
export const modernVersions: Configs = {
  nginx: 'ssl_protocols TLSv1.2 TLSv1.3;',
  apache: 'SSLProtocol -all +TLSv1.2 +TLSv1.3',
  caddy: 'example.com {\n  tls {\n    protocols tls1.2 tls1.3\n  }\n}',
  haproxy: 'global\n  ssl-default-bind-options ssl-min-ver TLSv1.2',
  postfix: 'smtpd_tls_protocols = >=TLSv1.2\nsmtpd_tls_mandatory_protocols = >=TLSv1.2',
}

/** Suites with forward secrecy and authenticated encryption alone. */
export const modernSuites: Configs = {
  nginx: `ssl_ciphers ${suites};`,
  apache: `SSLCipherSuite ${suites}`,
  caddy: '# Remove the line “ciphers” from “tls”.\n# By default, Caddy offers only secure suites.',
  haproxy: `global\n  ssl-default-bind-ciphers ${suites}`,
  postfix: `tls_high_cipherlist = ${suites}\nsmtpd_tls_ciphers = high\nsmtpd_tls_mandatory_ciphers = high`,
}

/** A certificate with its intermediate certificates, in this order, in one file. */
export const certificateFile: Configs = {
  nginx: 'ssl_certificate /etc/ssl/example.com/fullchain.pem;\nssl_certificate_key /etc/ssl/example.com/privkey.pem;',
  apache: 'SSLCertificateFile /etc/ssl/example.com/fullchain.pem\nSSLCertificateKeyFile /etc/ssl/example.com/privkey.pem',
  caddy:
    '# Caddy gets certificates by itself. To use your own:\nexample.com {\n  tls /etc/ssl/example.com/fullchain.pem /etc/ssl/example.com/privkey.pem\n}',
  haproxy:
    '# One file: certificate, intermediate certificates, private key.\nbind :443 ssl crt /etc/haproxy/certs/example.com.pem',
  postfix: 'smtpd_tls_chain_files = /etc/ssl/example.com/privkey.pem, /etc/ssl/example.com/fullchain.pem',
}

/** HSTS for a year. */
export const hsts: Configs = {
  nginx: 'add_header Strict-Transport-Security "max-age=31536000" always;',
  apache: '# Requires mod_headers.\nHeader always set Strict-Transport-Security "max-age=31536000"',
  caddy: 'example.com {\n  header Strict-Transport-Security "max-age=31536000"\n}',
  haproxy: 'frontend https\n  http-response set-header Strict-Transport-Security "max-age=31536000"',
  postfix: null,
}

export const noCompression: Configs = {
  nginx: '# Update nginx: since 1.3.2, it never compresses TLS.',
  apache: 'SSLCompression off',
  caddy: '# Caddy never compresses TLS. Look for a proxy in front of it.',
  haproxy: '# Update HAProxy and OpenSSL: current versions never compress TLS.',
  postfix: 'tls_ssl_options = NO_COMPRESSION',
}

export const safeRenegotiation: Configs = {
  nginx: '# Update OpenSSL to 1.1.1 or later, and restart nginx.',
  apache: '# Update OpenSSL to 1.1.1 or later, and remove this line:\n# SSLInsecureRenegotiation on',
  caddy: '# Caddy never renegotiates. Look for a proxy in front of it.',
  haproxy: '# Update OpenSSL to 1.1.1 or later, and restart HAProxy.',
  postfix: '# Update OpenSSL to 1.1.1 or later, and set:\ntls_ssl_options = NO_RENEGOTIATION',
}
