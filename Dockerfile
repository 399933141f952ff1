# Build:  docker build -t muster-dev/muster:0.1.0 .
# Run:    docker run --read-only -p 8443:8443 -p 8080:8080 -v muster-certs:/certs muster-dev/muster:0.1.0 serve --certs-dir /certs
# Pinned: docker build --build-arg NODE_IMAGE=node:24-slim@sha256:... (docs/image.md says where the digest comes from)
#
# Install scripts are off everywhere: the image brings its own Node, so the pinned `node` package is not needed.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.ts scripts/bundle.ts scripts/sbom.ts scripts/image-root.ts ./scripts/
COPY src ./src
RUN node scripts/build.ts
RUN node scripts/bundle.ts
RUN node scripts/sbom.ts /build/sbom.cdx.json
RUN node scripts/image-root.ts /root-of-image

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM scratch
LABEL org.opencontainers.image.title="Muster" \
      org.opencontainers.image.description="Kubernetes admission server and gate-lifting reconciler" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
ENV NODE_ENV=production
COPY --from=build /root-of-image/ /
WORKDIR /app
COPY package.json LICENSE ./
COPY bin ./bin
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY --from=build /build/sbom.cdx.json ./
USER 65532:65532
EXPOSE 8443 8080
ENTRYPOINT ["/usr/bin/node", "/app/bin/muster.js"]
CMD ["serve"]
