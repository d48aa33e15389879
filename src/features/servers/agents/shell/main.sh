# Commands.

read_identity() {
  hub='' server_id='' agent_id='' token=''
  [ -f "$state/identity" ] || return 1
  while read -r word value; do
    case $word in
      hub) hub=$value ;;
      server_id) server_id=$value ;;
      agent_id) agent_id=$value ;;
      token) token=$value ;;
    esac
  done <"$state/identity"
  [ "$token" ]
}

# When the process $1 started, since the boot of the kernel (ms); 0 if it is hidden. “self” has just started.
started_ms() {
  stat=''
  [ ! -r "$root/proc/$1/stat" ] || read -r stat <"$root/proc/$1/stat"
  # The name of the program before can contain spaces.
  # shellcheck disable=SC2086
  set -- ${stat##*\)}
  echo $((${20:-0} * 10))
}

run_agent() {
  read_identity || fail 'This server is not enrolled. Use the command that the dashboard shows.'
  respawn=${1-}
  [ ! -e "$state/revoked" ] || end_revoked
  known_facts='' facts_at=0 last_problem='' minute=0 interval=60 failures=0 lines=$max_lines due=0 dropped=0
  start_run
  read -r boot_id <"$root/proc/sys/kernel/random/boot_id"
  own_second=$((0x$(printf %s "$agent_id" | sha256sum | cut -c 1-7) % 60))
  prepare hub.pem
  rm -f "$run/shutdown"
  echo $$ >"$run/pid"
  # The minute in which it was stopped continues.
  [ ! -s "$run/sums" ] || read -r _ minute <"$run/sums"
  [ ! -s "$spool/dropped" ] || read -r dropped <"$spool/dropped"
  is_number "$dropped" || dropped=0
  trap last_words TERM INT
  read_clock
  # When the server booted, by the same clock. In a container, that can count from the boot of the host.
  booted_ms=0 started=$(started_ms self)
  [ "$started" = 0 ] || booted_ms=$((up_ms - started + $(started_ms 1)))
  # Its last line may be incomplete.
  set_aside
  list_interfaces
  read_filesystems
  log "Version $version reports to $hub as $agent_id."
  while :; do
    read_clock
    measure
    read_clock
    left=$((10 - now_ms / 1000 % 10))
    if [ $((due - up_ms / 1000)) -lt $left ]; then
      [ $due -le $((up_ms / 1000)) ] || pause $((due - up_ms / 1000))
      send
      read_clock
      left=$((10 - now_ms / 1000 % 10))
    fi
    pause $left
  done
}

case ${1-} in
  install)
    shift
    install_agent "$@"
    ;;
  enrol)
    shift
    enrol "$@"
    ;;
  run)
    shift
    run_agent "$@"
    ;;
  uninstall | --uninstall) uninstall_agent ;;
  *)
    log "Unknown command: ${1-none}. Usage: $name install --hub URL --key KEY | run | uninstall"
    exit 2
    ;;
esac
