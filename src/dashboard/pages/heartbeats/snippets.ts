/** A code snippet that pings a heartbeat. */
interface Snippet {
  id: string
  label: string
  text: string
}

/** Snippets for common ways to run jobs, ready to paste. */
export const snippets = (url: string): Snippet[] => [
  {
    id: 'cron',
    label: 'crontab',
    text: `# Reports the exit status of the job.
30 3 * * * /usr/local/bin/backup; curl -fsS -m 10 --retry 5 -o /dev/null ${url}/$?`,
  },
  {
    id: 'systemd',
    label: 'systemd',
    text: `# /etc/systemd/system/backup.service
[Unit]
Description=Backup

[Service]
Type=oneshot
ExecStartPre=-/usr/bin/curl -fsS -m 10 --retry 5 -o /dev/null ${url}/start
ExecStart=/usr/local/bin/backup
ExecStopPost=/bin/sh -c 'curl -fsS -m 10 --retry 5 -o /dev/null "${url}/$$([ "$$SERVICE_RESULT" = success ] && echo 0 || echo fail)"'

# /etc/systemd/system/backup.timer
[Unit]
Description=Backup every night

[Timer]
OnCalendar=*-*-* 03:30:00
Persistent=true

[Install]
WantedBy=timers.target`,
  },
  {
    id: 'kubernetes',
    label: 'Kubernetes',
    text: `apiVersion: batch/v1
kind: CronJob
metadata:
  name: backup
spec:
  schedule: "30 3 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: backup
              # An image with the job and curl.
              image: registry.example.com/backup:1
              command: [/bin/sh, -c]
              args:
                - |
                  curl -fsS -m 10 --retry 5 -o /dev/null "$PING_URL/start"
                  /usr/local/bin/backup
                  status=$?
                  curl -fsS -m 10 --retry 5 -o /dev/null "$PING_URL/$status"
                  exit $status
              env:
                - name: PING_URL
                  value: ${url}`,
  },
  {
    id: 'github',
    label: 'GitHub Actions',
    text: `on:
  schedule:
    - cron: '30 3 * * *'
jobs:
  backup:
    runs-on: ubuntu-latest
    steps:
      - run: curl -fsS -m 10 --retry 5 -o /dev/null ${url}/start
      - run: ./backup.sh
      - if: success()
        run: curl -fsS -m 10 --retry 5 -o /dev/null ${url}
      - if: failure()
        run: curl -fsS -m 10 --retry 5 -o /dev/null ${url}/fail`,
  },
  {
    id: 'powershell',
    label: 'PowerShell',
    text: `$ping = '${url}'
Invoke-RestMethod "$ping/start" -TimeoutSec 10 | Out-Null
try {
  & 'C:\\Jobs\\backup.exe'
  if ($LASTEXITCODE -ne 0) { throw "exit status $LASTEXITCODE" }
  Invoke-RestMethod $ping -TimeoutSec 10 | Out-Null
} catch {
  Invoke-RestMethod "$ping/fail" -Method Post -Body "$_" -TimeoutSec 10 | Out-Null
  throw
}`,
  },
  {
    id: 'curl',
    label: 'curl',
    text: `# Success.
curl -fsS -m 10 --retry 5 -o /dev/null ${url}

# Start of a run, to measure its duration.
curl -fsS -m 10 --retry 5 -o /dev/null ${url}/start

# Failure, with the output of the job.
curl -fsS -m 10 --retry 5 -o /dev/null --data-binary @backup.log ${url}/fail`,
  },
  { id: 'wget', label: 'wget', text: `wget -q -T 10 -t 5 -O /dev/null ${url}` },
  {
    id: 'python',
    label: 'Python',
    text: `from urllib.request import urlopen

PING = "${url}"


def ping(suffix="", body=None):
    try:
        urlopen(PING + suffix, data=body, timeout=10).close()
    except OSError as error:
        print("Ping failed:", error)


ping("/start")
try:
    run_the_job()
except Exception as error:
    ping("/fail", str(error).encode())
    raise
ping()`,
  },
]
