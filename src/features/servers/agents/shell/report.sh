# The columns and up to $2 minutes of the file $1.
table() {
  awk -v boot_id="$boot_id" -v hub_base="$hub_base" -v limit="$2" '
    NR == 1 { boot = $1; columns = substr($0, length($1) + 2); next }
    taken < limit && /^[0-9]+ [0-9]+ [0-9]+ \[.*\],\[.*\]$/ {
      at = $1
      wrong = hub_base + $2 - at
      if (boot == boot_id && hub_base != "" && (wrong > 2000 || wrong < -2000)) at += wrong
      rest = $0
      sub(/^[0-9]+ [0-9]+ [0-9]+ /, "", rest)
      minutes = minutes sep sprintf("[%.0f,%d,", at - at % 60000, $3) rest "]"
      sep = ","
      taken++
    }
    END { printf "\"columns\":[%s],\"minutes\":[%s]", columns, minutes }
  ' "$1"
}

# Sends a report with up to $3 minutes of the file $1. $2: whether they are a backlog. $4: why the agent stops. Sets outcome to ok, revoked,
# refused (the minutes are invalid), or failed.
report() {
  file=$1
  [ -s "$file" ] || file=/dev/null
  seq=$((seq + 1))
  count_spooled
  read_clock
  sent_at_up=$up_ms
  news=''
  if [ "$2" = false ] && [ "$hub_base" ] && [ -z "$4" ] && { [ -z "$known_facts" ] || [ "$up_ms" -ge "$facts_at" ]; }; then
    facts_at=$((up_ms + 600000))
    news=$(facts)
    [ "$news" != "$known_facts" ] || news=''
  fi
  {
    printf '{"v":1,"run_id":"%s","seq":%s,"sent_at":%s,"clock_offset_ms":%s,' "$run_id" "$seq" "$(($(date +%s) * 1000 + 500))" "$offset_ms"
    printf '"boot_id":"%s","uptime_seconds":%s,"interval_seconds":%s,"version":"%s",' "$boot_id" $(((up_ms - booted_ms) / 1000)) "$interval" "$version"
    printf '"allow":[],"backlog":%s,"spooled":%s,"dropped":%s,' "$2" "$spooled" "$dropped"
    [ -z "$4" ] || printf '"stopping":"%s",' "$4"
    [ -z "$news" ] || printf '"facts":{%s},' "${news#,}"
    table "$file" "$3"
    echo '}'
  } >"$run/request"
  call /v1/ingest/agents/reports "$token"
  read_clock
  outcome=failed
  case $status in
    200) accept ;;
    401) ! grep -q '"code": *"token_revoked"' "$run/body" || outcome=revoked ;;
    409) ! grep -q '"pointer": *"#/seq"' "$run/body" || start_run ;;
    400 | 413 | 415 | 422)
      if grep -q '"pointer": *"#/facts' "$run/body"; then
        known_facts=$news
      elif [ "$file" != /dev/null ] && grep -q '"code"' "$run/body"; then
        # Only the hub's own problems have a code, unlike those of a proxy.
        if ! grep -q '"pointer"' "$run/body" || grep -Eq '"pointer": *"#/(minutes|columns)' "$run/body"; then outcome=refused; fi
      fi
      ;;
  esac
}

# The hub has later reports of this run if the machine was restored from a snapshot with its memory. It would refuse all others.
start_run() {
  read -r run_id </proc/sys/kernel/random/uuid
  seq=0
}

# Reads the response to a report.
accept() {
  time=$(field time)
  if [ "$(field acknowledged)" != "$seq" ] || ! is_number "$time"; then
    problem='The hub’s response is invalid.'
    return
  fi
  outcome=ok
  hub_base=$((time - (sent_at_up + up_ms) / 2))
  [ -z "$news" ] || known_facts=$news
  ! grep -q '"send_all": *true' "$run/body" || known_facts=''
  seconds=$(field interval_seconds)
  if is_number "$seconds" && [ "$seconds" -ge 10 ] && [ "$seconds" -le 3600 ]; then interval=$seconds; fi
}

# Reports the last minutes, then older ones.
send() {
  # More have piled up while the hub was away.
  [ "$(count_current)" -le $((interval / 60 + 5)) ] || set_aside
  # The first one asks for the time of the hub, by which minutes are filed.
  [ "$hub_base" ] || report /dev/null false 0 ''
  [ -z "$hub_base" ] || report "$spool/current" false $max_lines ''
  case $outcome in
    ok)
      rm -f "$spool/current"
      : >"$run/reported"
      ;;
    refused)
      # The rest of the report was accepted before, or is next.
      set_aside
      lines=1
      ;;
    *)
      give_up
      return
      ;;
  esac
  [ -z "$last_problem" ] || log 'The hub is reachable again.'
  last_problem=''
  failures=0
  # Agents report at different seconds, so that the hub is always equally busy.
  due=$((up_ms / 1000 + interval - (now_ms / 1000 - own_second + interval) % interval))
  send_backlog
}

send_backlog() {
  began=$up_ms
  for _ in 1 2 3 4 5; do
    set -- "$spool"/*.minutes
    [ -e "$1" ] && [ $((up_ms - began)) -lt 5000 ] || return 0
    oldest=$1
    report "$oldest" true $lines ''
    case $outcome in
      ok) if [ $lines -gt 1 ]; then rm -f "$oldest"; else shorten "$oldest"; fi ;;
      refused)
        if [ $lines -gt 1 ]; then
          lines=1
        else
          log "$problem The minute was dropped."
          drop 1
          shorten "$oldest"
        fi
        ;;
      *)
        give_up
        return
        ;;
    esac
  done
  # The rest follows after the next sample.
  due=$((up_ms / 1000))
}

# Removes the first minute of a file.
shorten() {
  sed 2d "$1" >"$run/rest"
  if [ "$(grep -c ' \[' "$run/rest")" = 0 ]; then
    rm -f "$1"
    lines=$max_lines
  else
    cat "$run/rest" >"$1"
  fi
}

# Tries again later: after a random pause, and not before the hub wants it.
give_up() {
  if [ "$outcome" = revoked ]; then
    : >"$state/revoked"
    end_revoked
  fi
  failures=$((failures + 1))
  limit=300
  [ $failures -gt 8 ] || limit=$((1 << failures))
  wait_s=$((1 + $(random_below "$limit")))
  [ "${retry_after:-0}" -le 3600 ] || retry_after=3600
  [ "${retry_after:-0}" -le $wait_s ] || wait_s=$retry_after
  due=$((up_ms / 1000 + wait_s))
  [ "$problem" = "$last_problem" ] || log "$problem Minutes are stored and sent later."
  last_problem=$problem
}

end_revoked() {
  log 'The agent was revoked, so it stops. To use it again, enroll it with a new key.'
  # init of BusyBox starts it again at once.
  [ "$respawn" != --respawn ] || pause 300
  exit 78
}

# Reports the current minute, and that the agent stops.
last_words() {
  trap '' TERM INT
  [ -z "${sleeper-}" ] || kill "$sleeper" 2>/dev/null
  end_minute
  reason=stop
  [ ! -e "$run/shutdown" ] || reason=shutdown
  report "$spool/current" false $max_lines $reason
  if [ "$outcome" = ok ]; then rm -f "$spool/current"; else log "The last report was not received. $problem"; fi
  exit 0
}
