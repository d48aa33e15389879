#!/bin/sh
# One disk that answers, with exit statuses that are about the disk, and one that never does.
case "$*" in
  *--scan-open*) echo '{"devices":[{"name":"/dev/fake-a","type":"sat"},{"name":"/dev/fake-b","type":"nvme"}]}' ;;
  */dev/fake-a) echo '{"model_name":"Fake","serial_number":"1","smart_status":{"passed":false}}'; exit 64 ;;
  *) sleep 1000 ;;
esac
