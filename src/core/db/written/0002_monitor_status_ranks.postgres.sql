update monitors set status_rank = case status when 'down' then 0 when 'degraded' then 1 when 'unknown' then 2 when 'new' then 3 when 'up' then 4
  when 'maintenance' then 5 else 6 end;
