# docker build -t bailiwick . && docker run -p 8484:8484 -v bailiwick:/data bailiwick
FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml tsconfig.json ./
RUN npx --yes bun@1.4.5 install --frozen-lockfile
COPY migrations migrations
COPY src src
RUN npx --yes bun@1.4.5 src/bin/build.ts

FROM debian:bookworm-slim
# CA certificates for outgoing HTTPS requests.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 8484 --home-dir /data --shell /usr/sbin/nologin bailiwick \
 && install -d -o bailiwick -g bailiwick -m 750 /data
COPY --from=build /build/dist/bailiwick /build/dist/bailiwick-agent /build/dist/bailiwick-probe /usr/local/bin/
USER bailiwick
ENV BAILIWICK_DATA=/data
VOLUME /data
EXPOSE 8484
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s CMD ["bailiwick", "health"]
ENTRYPOINT ["bailiwick"]
CMD ["serve"]
