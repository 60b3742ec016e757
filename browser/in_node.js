// The page's planner without a page: node browser/in_node.js build-browser/planner.js PLAN FOLDER [FILE...]
// writes what the page would show; FILE...: those that the plan names. Exit status and words are the planner's.
'use strict';

const fs = require('fs'), path = require('path');

async function main([program, plan, folder, ...files]) {
  const planner = await require(path.resolve(program))({print: () => {}, printErr: line => console.error(line)});
  const {FS} = planner;
  FS.mkdir('/plan');
  for (const file of [plan, ...files]) {
    const name = path.join('/plan', path.relative(path.dirname(plan), file));
    FS.mkdirTree(path.dirname(name));
    FS.writeFile(name, fs.readFileSync(file));
  }
  const status = planner.callMain([`/plan/${path.basename(plan)}`, '/plan/answer']);
  if (status === 0) {
    fs.mkdirSync(folder, {recursive: true});
    for (const name of FS.readdir('/plan/answer'))
      if (!name.startsWith('.')) fs.writeFileSync(path.join(folder, name), FS.readFile(`/plan/answer/${name}`));
  }
  process.exit(status);
}

main(process.argv.slice(2));
