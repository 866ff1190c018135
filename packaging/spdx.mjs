// What is inside the binary, as SPDX 2.3: node packaging/spdx.mjs VERSION EPOCH SHA256. The libraries by the Debian packages that
// they were linked from, the page's by its lock file.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [version, epoch, sha256] = process.argv.slice(2);
const root = path.join(path.dirname(new URL(import.meta.url).pathname), '..');
const linked = fs.readFileSync(path.join(root, 'packaging/linked.txt'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));

const id = (text) => `SPDXRef-${text.replaceAll(/[^A-Za-z0-9.-]+/g, '-')}`;
const one = (name, at, license, purl) => ({
  SPDXID: id(`${purl.split('/')[0].slice(4)}-${name}`),
  name,
  versionInfo: at,
  downloadLocation: 'NOASSERTION',
  filesAnalyzed: false,
  licenseConcluded: 'NOASSERTION',
  licenseDeclared: license,
  copyrightText: 'NOASSERTION',
  externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
});
const parts = [];
for (const name of linked) {
  const at = execFileSync('dpkg-query', ['-W', '-f', '${Version}', name], { encoding: 'utf8' });
  parts.push(one(name, at, 'NOASSERTION', `pkg:deb/debian/${name}@${encodeURIComponent(at)}?distro=bookworm`));
}
const lock = JSON.parse(fs.readFileSync(path.join(root, 'web/package-lock.json'), 'utf8'));
for (const [at, about] of Object.entries(lock.packages)) {
  if (!at || about.dev || about.optional) continue;
  const name = at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);
  parts.push(one(name, about.version, about.license ?? 'NOASSERTION', `pkg:npm/${name.replace('@', '%40')}@${about.version}`));
}
const main = { ...one('errand', version, 'Apache-2.0', `pkg:generic/errand@${version}`), SPDXID: 'SPDXRef-errand', checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }] };
const unique = [...new Map(parts.map((part) => [part.SPDXID, part])).values()];
process.stdout.write(
  `${JSON.stringify(
    {
      spdxVersion: 'SPDX-2.3',
      dataLicense: 'CC0-1.0',
      SPDXID: 'SPDXRef-DOCUMENT',
      name: `errand-${version}`,
      documentNamespace: `urn:errand:${version}:${sha256}`,
      creationInfo: { created: `${new Date(Number(epoch) * 1000).toISOString().slice(0, 19)}Z`, creators: ['Tool: errand-scripts-release'] },
      packages: [main, ...unique],
      relationships: [
        { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: 'SPDXRef-errand' },
        ...unique.map((part) => ({ spdxElementId: 'SPDXRef-errand', relationshipType: 'CONTAINS', relatedSpdxElement: part.SPDXID })),
      ],
    },
    null,
    2,
  )}\n`,
);
