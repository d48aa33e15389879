# Prints text as it can be in JSON.
clean() { tr -cd ' -~' | sed 's/["\\]//g' | cut -c "1-$1"; }

facts() {
  fact hostname "$(clean 253 <"$root/proc/sys/kernel/hostname")"
  fact kernel "$(clean 200 <"$root/proc/sys/kernel/osrelease")"
  fact arch "$(uname -m | clean 50)"
  for path in "$root/etc/os-release" "$root/usr/lib/os-release"; do
    [ -f "$path" ] || continue
    fact os "$(os_release PRETTY_NAME "$path" | clean 200)"
    fact image "$({ os_release ID "$path" && os_release VERSION_ID "$path"; } | tr '\n' - | sed 's/-*$//' | clean 100)"
    break
  done
  model=$(awk -F ': *' '$1 ~ /^(model name|Model|cpu model|machine)[ \t]*$/ { print $2; exit }' "$root/proc/cpuinfo" 2>/dev/null | clean 200)
  fact cpu_model "${model:-$(tr '\0' ' ' 2>/dev/null <"$root/proc/device-tree/model" | clean 200)}"
  awk '/^processor[ \t]*:/ { cores++ } END { if (cores) printf ",\"cores\":%d", cores }' "$root/proc/cpuinfo" 2>/dev/null
  awk '$1 == "MemTotal:" { printf ",\"memory_bytes\":%.0f", $2 * 1024 }' "$root/proc/meminfo"
  awk '$1 == "btime" { printf ",\"boot_at\":%.0f", $2 * 1000 }' "$root/proc/stat"
  printf ',"macs":[%s]' "$(macs | grep -E '^([0-9a-f]{2}:){5}[0-9a-f]{2}$' |
    grep -v '^00:00:00:00:00:00$' | sort -u | quoted_list)"
  printf ',"addresses":[%s]' "$(ip -o address 2>/dev/null | awk '$3 ~ /^inet6?$/ { sub("/.*", "", $4); print $4 }' |
    grep -Ev '^(127\.|169\.254\.|::1$|fe[89ab])' | sort -u | quoted_list)"
}

macs() {
  list_interfaces
  for interface in $interfaces; do cat "$root/sys/class/net/$interface/address"; done 2>/dev/null
}

fact() { [ -z "$2" ] || printf ',"%s":"%s"' "$1" "$2"; }

os_release() { sed -n "s/^$1=//p" "$2" | tr -d "\"'"; }

quoted_list() { head -n 64 | sed 's/.*/"&"/' | tr '\n' , | sed 's/,$//'; }
