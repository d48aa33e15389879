# Interfaces to measure. The traffic of bridges, bonds, and VLANs would be counted twice.
list_interfaces() {
  interfaces=' '
  for path in "$root"/sys/class/net/*; do
    interface=${path##*/}
    case $interface in
      lo | veth* | cali* | lxc* | tap* | vnet* | ifb* | dummy* | sit[0-9]* | tunl[0-9]* | ip6tnl[0-9]* | gre* | teql* | *[!A-Za-z0-9._-]*) continue ;;
    esac
    [ ! -d "$path/bridge" ] || continue
    set -- "$path"/lower_*
    [ -e "$1" ] || interfaces="$interfaces$interface "
  done
}

# Local file systems that store data, each once. One on the network could block the agent.
read_filesystems() {
  awk '
    {
      split($0, half, " - ")
      split(half[1], field, " ")
      split(half[2], source, " ")
      path = field[5]
      if (source[1] !~ /^(ext[234]|xfs|btrfs|zfs|f2fs|jfs|jffs2|ubifs|bcachefs|nilfs2|vfat|exfat|ntfs3?|overlay|virtiofs)$/) next
      if (path ~ /^\/(proc|sys|dev|etc|run|rom|overlay|snap|var\/lib\/(docker|containers|lxc))(\/|$)/) next
      if (path ~ /[^A-Za-z0-9._\/@+,=:-]/ || (source[1] == "overlay" && path != "/")) next
      rank = path == "/" ? 0 : (field[4] == "/" ? 1 : 2) * 10000 + length(path)
      if (field[3] in best && best[field[3]] <= rank) next
      best[field[3]] = rank
      paths[field[3]] = path
    }
    END { for (device in paths) print paths[device] }
  ' "$root/proc/self/mountinfo" 2>/dev/null | sort | head -n 20 | while read -r path; do
    df -kP "$root$path" 2>/dev/null | {
      read -r _
      read -r _ size used available _ && echo "$path $size $used $available"
    }
  done >"$run/filesystems"
}

# Adds a sample to $run/sums. The first line is about the minute, the others have the number of values, their sum, and the maximum.
sample() {
  awk -v root="$root" -v run="$run" -v minute="$minute" -v up="$up_ms" -v interfaces="$interfaces" '
    function add(metric, value) {
      if (!(metric in count)) {
        if (metrics == 300) return
        names[++metrics] = metric
        most[metric] = value
      }
      count[metric]++
      sum[metric] += value
      if (value > most[metric]) most[metric] = value
    }
    # The increase of a counter since the previous sample, divided by the increase of something else. A counter that was reset has none.
    function rate(metric, counter, per) {
      if (metric in counters && counter >= counters[metric] && per > pers[metric]) {
        value = (counter - counters[metric]) / (per - pers[metric])
        add(metric, metric ~ /_percent/ && value > 100 ? 100 : value)
      }
      printf "%s %.0f %.2f\n", metric, counter, per > (run "/counters.new")
    }
    function read(file) {
      return (getline line < (root "/proc/" file)) > 0
    }
    BEGIN {
      while ((getline line < (run "/counters")) > 0) {
        split(line, f, " ")
        counters[f[1]] = f[2]
        pers[f[1]] = f[3]
      }
      if ((getline line < (run "/sums")) > 0) samples = line + 0
      while ((getline line < (run "/sums")) > 0) {
        split(line, f, " ")
        names[++metrics] = f[1]
        count[f[1]] = f[2]
        sum[f[1]] = f[3]
        most[f[1]] = f[4]
      }
      if (read("stat")) {
        split(line, f, " ")
        total = f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8] + f[9]
        rate("cpu.used_percent", 100 * (total - f[5] - f[6]), total)
        rate("cpu.user_percent", 100 * (f[2] + f[3]), total)
        rate("cpu.system_percent", 100 * (f[4] + f[7] + f[8]), total)
        rate("cpu.iowait_percent", 100 * f[6], total)
        rate("cpu.steal_percent", 100 * f[9], total)
      }
      if (read("loadavg")) {
        split(line, f, " ")
        add("load.1", f[1])
        add("load.5", f[2])
        add("load.15", f[3])
      }
      while (read("meminfo")) {
        split(line, f, " ")
        memory[f[1]] = f[2] * 1024
      }
      if ("MemTotal:" in memory) {
        cached = memory["Buffers:"] + memory["Cached:"] + memory["SReclaimable:"]
        # Kernels before 3.14 do not estimate it.
        available = "MemAvailable:" in memory ? memory["MemAvailable:"] : memory["MemFree:"] + cached - memory["Shmem:"]
        used = memory["MemTotal:"] - available
        add("memory.used_bytes", used > 0 ? used : 0)
        add("memory.available_bytes", available)
        add("memory.cached_bytes", cached)
        add("swap.size_bytes", memory["SwapTotal:"])
        add("swap.used_bytes", memory["SwapTotal:"] - memory["SwapFree:"])
      }
      while (read("net/dev")) {
        at = match(line, /:[^:]*$/)
        name = substr(line, 1, at - 1)
        gsub(/ /, "", name)
        split(substr(line, at + 1), f, " ")
        if (at == 0 || index(interfaces, " " name " ") == 0 || f[1] + f[9] == 0 || ++devices > 20) continue
        rate("network.received_bytes_per_second:" name, f[1], up / 1000)
        rate("network.sent_bytes_per_second:" name, f[9], up / 1000)
        rate("network.received_packets_per_second:" name, f[2], up / 1000)
        rate("network.sent_packets_per_second:" name, f[10], up / 1000)
        rate("network.errors_per_second:" name, f[3] + f[11], up / 1000)
        rate("network.drops_per_second:" name, f[4] + f[12], up / 1000)
      }
      while ((getline line < (run "/filesystems")) > 0) {
        split(line, f, " ")
        if (f[2] == 0) continue
        add("filesystem.used_bytes:" f[1], f[3] * 1024)
        add("filesystem.size_bytes:" f[1], f[2] * 1024)
        add("filesystem.available_bytes:" f[1], f[4] * 1024)
      }
      print samples + 1, minute > (run "/sums.new")
      for (at = 1; at <= metrics; at++)
        printf "%s %d %.6f %.6f\n", names[at], count[names[at]], sum[names[at]], most[names[at]] > (run "/sums.new")
    }
  '
  mv -f "$run/counters.new" "$run/counters"
  mv -f "$run/sums.new" "$run/sums"
}

# Measures. At the first sample of a minute, stores the one before.
measure() {
  if [ "$((${minute%% *} / 60000))" != $((now_ms / 60000)) ]; then
    end_minute
    # While the time of the hub is unknown, the time since the boot tells later which minute it was.
    if [ "$hub_base" ]; then minute="$now_ms $up_ms -"; else minute="$now_ms $up_ms $boot_id"; fi
    list_interfaces
    read_filesystems
  fi
  sample
}

# Stores the current minute: a line in a file with the columns in its first line.
end_minute() {
  [ -s "$run/sums" ] || return 0
  awk '
    NR == 1 { samples = $1; at = $2; up = $3; boot = $4; next }
    {
      columns = columns sep "\"" $1 "\""
      averages = averages sep sprintf("%.6g", $3 / $2)
      maximums = maximums sep sprintf("%.6g", $4)
      sep = ","
    }
    END {
      print boot, columns
      print at, up, samples, "[" averages "],[" maximums "]"
    }
  ' "$run/sums" >"$run/minute"
  rm -f "$run/sums"
  { read -r header && read -r line; } <"$run/minute"
  known=''
  [ ! -s "$spool/current" ] || read -r known <"$spool/current"
  if [ "$known" != "$header" ] || [ "$(count_current)" -ge $max_lines ]; then set_aside; fi
  [ -s "$spool/current" ] || line="$header
$line"
  echo "$line" >>"$spool/current" || log 'A minute can’t be stored.'
}

# Makes the current minutes a file of the backlog. The oldest file is dropped if too many minutes wait.
set_aside() {
  [ -s "$spool/current" ] || return 0
  first=$(sed -n '2s/ .*//p' "$spool/current")
  mv -f "$spool/current" "$spool/$(printf %016d "${first:-0}")-$up_ms.minutes"
  while count_spooled && [ "$spooled" -gt $max_spooled ]; do
    set -- "$spool"/*.minutes
    drop "$(grep -c ' \[' "$1")"
    rm -f "$1"
  done
}

count_current() { if [ -f "$spool/current" ]; then grep -c ' \[' "$spool/current"; else echo 0; fi; }

count_spooled() { spooled=$(cat "$spool"/*.minutes "$spool/current" 2>/dev/null | grep -c ' \['); }

drop() {
  dropped=$((dropped + $1))
  echo "$dropped" >"$spool/dropped"
}
